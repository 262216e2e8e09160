/** Figures of runs by day: sums, and lines with a value for each day. */
export interface Point { day: string; model: string; runs: number; failed: number; cost: number; ttft: number | null; input: number; output: number }

export interface Series { model: string; values: (number | null)[] }

/** Days from the first to the last, both inclusive, without gaps. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(`${from}T00:00:00Z`), end = Date.parse(`${to}T00:00:00Z`); at <= end && days.length < 1000; at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

/** One line per model, the model with most runs first. A day without runs is 0 for sums and a gap for times. */
export function seriesOf(points: readonly Point[], days: readonly string[], what: 'cost' | 'ttft' | 'runs', most = 5): Series[] {
  const totals = new Map<string, number>();
  for (const point of points) totals.set(point.model, (totals.get(point.model) ?? 0) + point.runs);
  const models = [...totals].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, most).map(([model]) => model);
  return models.map((model) => ({
    model,
    values: days.map((day) => {
      const of = points.filter((point) => point.model === model && point.day === day);
      if (what !== 'ttft') return of.reduce((sum, point) => sum + point[what], 0);
      const timed = of.filter((point) => point.ttft !== null && point.runs > 0);
      const runs = timed.reduce((sum, point) => sum + point.runs, 0);
      return runs ? timed.reduce((sum, point) => sum + point.ttft! * point.runs, 0) / runs : null;
    }),
  }));
}

/** The next round number at or above, for the top of a scale. */
export function niceTop(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((one) => one * power >= value * 0.999999)!;
  return Number((step * power).toPrecision(3));
}

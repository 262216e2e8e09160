/** What the server says of scheduled tasks. */
export interface Task {
  id: string;
  title: string;
  cron: string;
  timezone: string;
  enabled: boolean;
  prompt: string | null;
  prompt_ref: { prompt_id: string; version?: number | string; variables?: Record<string, string | number | boolean> } | null;
  model: string | null;
  overlap: 'skip' | 'queue' | 'allow' | 'replace';
  skip_confirmations: boolean;
  expires_at: string | null;
  next_run_at: string | null;
  last_run_at: string | null;
  failures: number;
  disabled_reason: string | null;
}

export interface TaskRun {
  id: string;
  task_id: string;
  session_id: string | null;
  status: 'completed' | 'failed' | 'running';
  error: unknown;
  triggered_at: string;
  finished_at: string | null;
  due_at: string;
  is_manual: boolean;
  reason: 'missed' | 'skipped' | 'queued' | null;
  missed_count: number;
}

export interface Item { task_id: string; title: string; at: string; local: string; run: TaskRun | null }
export interface Explained { en: string; zh: string; next: string[] }

export type Sign = 'planned' | 'running' | 'completed' | 'failed' | 'missed';

/** One of five signs. A time that is past and has no run was missed: the server was off then. */
export function signOf(run: TaskRun | null, at: string, now: number): Sign {
  if (!run) return Date.parse(at) < now - 120_000 ? 'missed' : 'planned';
  if (run.reason === 'missed' || run.reason === 'skipped') return 'missed';
  return run.status;
}

export const icons = { planned: 'pending', running: 'running', completed: 'done', failed: 'failed', missed: 'missed' } as const;
export const tones = { planned: '', running: 'acc', completed: 'ok', failed: 'bad', missed: 'faint' } as const;
export const looks = { planned: 'next', running: 'runn', completed: '', failed: 'bad', missed: 'miss' } as const;

export const whyOf = (run: TaskRun): string => {
  if (!run.error) return '';
  if (typeof run.error === 'string') return run.error;
  const told = run.error as { detail?: string; message?: string; title?: string; code?: string };
  return told.detail ?? told.message ?? told.title ?? told.code ?? '';
};

/** The server's data of scheduled tasks. */
import type { CalendarItem, CronExplained, Prompt, ScheduledTask, ScheduledTaskRun } from '@parley/client';

export type Task = ScheduledTask;
export type TaskRun = ScheduledTaskRun;
export type Item = CalendarItem;
export type Explained = CronExplained;
/** A prompt that a task may run, with its name. */
export type PromptName = Pick<Prompt, 'id' | 'name' | 'folder' | 'labels'>;

export type Sign = 'planned' | 'running' | 'completed' | 'failed' | 'missed';

/** One of five signs. A past time without a run was missed: the server was off then. */
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

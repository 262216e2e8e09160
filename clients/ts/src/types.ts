/**
 * The objects of the API. `schema.ts` has all of them, generated from the server's OpenAPI document. Here they get the names of
 * this client and the members that the server always sends. Types that exist only in the live connection are defined here.
 */
import type { components } from './schema.js';

/** Every object of the API by its name in the OpenAPI document: `Schemas['AuditItem']`. */
export type Schemas = components['schemas'];

/** All members are present, except those in `Sometimes`. */
type Sent<T, Sometimes extends keyof T = never> = Required<Omit<T, Sometimes>> & Pick<T, Sometimes>;

export type SessionStatus = Schemas['session']['status'];

export type Session = Sent<Omit<Schemas['session'], 'user_id' | 'replay_state' | 'settings' | 'tools'>,
  'source' | 'preview' | 'turns' | 'cost_usd' | 'open_questions' | 'system_prompt'> & {
  user_id: string;
  replay_state: ReplayState | null;
  /** Only in the answer to `shared: true`: the link, whose token is sent once. */
  share?: ShareLink;
  /** Only if they are set. */
  settings?: ModelSettings;
  tools?: ToolsOffered;
};

/** A session that replays another. */
export interface ReplayState {
  source_session_id: string;
  from_sequence: number;
  /** The number of all messages, and of those already replayed (`position`). */
  total: number;
  position: number;
  speed: number;
  status: 'running' | 'paused' | 'stopped' | 'finished';
}

export type ShareLink = Sent<Schemas['ShareLink']>;

/** Settings for model calls. A setting that the model does not accept is dropped or changed, and its turn reports that. */
export interface ModelSettings {
  temperature?: number | null;
  top_p?: number | null;
  top_k?: number | null;
  max_tokens?: number | null;
  stop?: string | string[] | null;
  seed?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
  thinking?: boolean | number | null;
  response_format?: Record<string, unknown> | null;
  tool_choice?: string | Record<string, unknown> | null;
  parallel_tool_calls?: boolean | null;
  verbosity?: 'low' | 'medium' | 'high' | null;
  vendor?: Record<string, Record<string, unknown>> | null;
}

/** A tool that the client runs itself. */
export interface ToolDefinition {
  name: string;
  description?: string;
  input_schema?: Record<string, unknown>;
}

/** Strings are names of built-in tools. */
export type ToolsOffered = 'all' | 'none' | (string | ToolDefinition)[];

export type TurnStatus = Schemas['turns.Turn']['status'];
export type ToolStatus = Schemas['turns.ToolCall']['status'];

/** Data that only the vendor of a block or a call can verify; present once the turn has ended. */
export type Proof = Schemas['turns.Proof'];

export interface ContentBlock {
  type: string;
  content: unknown;
  tool_call_id: string | null;
  tool_name: string | null;
  display_name: string | null;
  proof?: Proof;
}

export interface ToolCall {
  id: string;
  tool_name: string;
  display_name: string;
  arguments: string;
  status: ToolStatus;
  result: unknown;
  duration_ms: number | null;
  pending_question_ref: unknown;
  proof?: Proof;
  /** The client runs it and sends its result. */
  runs?: 'client';
}

export interface Turn {
  id: string;
  sequence: number;
  turn_id: string;
  loop_id: string;
  kind: 'message' | 'compaction';
  role: 'user' | 'assistant' | 'system';
  status: TurnStatus;
  blocks: ContentBlock[];
  tool_calls: ToolCall[];
  model: string | null;
  usage: unknown;
  duration_ms: number;
  started_at: string | null;
  context_window: number;
  memory_refs: unknown;
  parent_fork_tool_call_id: string | null;
  /** Seed 001, A.6: token_usage, latency_ms, model_version, trace_id, safety_check, citation_map … Sent at the end of the turn. */
  metadata?: Record<string, unknown>;
  [addition: string]: unknown;
}

export interface Patch {
  session_id: string;
  sequence: number;
  turn_id: string;
  loop_id: string;
  patch_type: 'add_content' | 'add_tool_call' | 'tool_result' | 'set_status' | 'set_tool_status';
  data: Record<string, unknown>;
}

export interface Question {
  tool_call_id: string;
  turn_id: string;
  loop_id: string;
  kind: string;
  questions: unknown;
  state: 'pending' | 'answered' | 'cancelled';
  answer: unknown;
  [addition: string]: unknown;
}

export interface Position { epoch: number; sequence: number }

export interface Snapshot {
  session_id: string;
  epoch: number;
  sequence: number;
  mode: 'snapshot' | 'compacted';
  session: Session;
  turns: Turn[];
  has_more: boolean;
  questions: Question[];
  queue: unknown[];
}

export interface LiveEvent { event: string; data: Record<string, unknown> }

export interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail?: string;
  request_id?: string;
  retryable: boolean;
  errors?: { pointer: string; detail: string }[];
}

/** A text, or a structured chat. */
export type PromptContent = string | Record<string, unknown>;

export type PromptVariable = Schemas['PromptVariable'];

export type PromptVersion = Schemas['PromptVersion'];

export type Prompt = Schemas['Prompt'];

export type PromptDiff = Schemas['PromptDiff'];

export interface PromptRunResult {
  prompt_id: string;
  version: number;
  mode: 'session' | 'answer';
  items: {
    model: string | null;
    session_id: string | null;
    status: SessionStatus;
    text: string | null;
    turn: Turn | null;
    error: string | null;
  }[];
}

export type PromptFile = Schemas['PromptFile'];

export type PromptImported = Schemas['PromptImported'];

export type MemoryDraft = Schemas['MemoryCreate'];

export type Memory = Sent<Schemas['memory']>;

export type PromptRef = NonNullable<ScheduledTaskDraft['prompt_ref']>;

export type ScheduledTaskDraft = Schemas['ScheduledTaskCreate'];

export type ScheduledTask = Sent<Omit<Schemas['scheduled-task'], 'prompt_ref'>> & { prompt_ref: PromptRef | null };

export type ScheduledTaskRun = Sent<Schemas['scheduled-task-run']>;

export interface Occurrence { at: string; local: string }

export type CalendarItem = Omit<Schemas['Calendar']['items'][number], 'run'> & { run: ScheduledTaskRun | null };

export type CronExplained = Schemas['CronExplained'];

export type Blob = Schemas['Blob'];

/** The objects of the API. Names and meanings are those of the server's OpenAPI document. */

export type SessionStatus =
  | 'created' | 'running' | 'completed' | 'failed' | 'interrupted' | 'waiting_for_input';

export interface Session {
  id: string;
  intent: string;
  status: SessionStatus;
  created_at: string;
  updated_at: string;
  user_id: string;
  solution_id: string | null;
  biz_role_id: string | null;
  model: string | null;
  shared: boolean;
  is_pinned: boolean;
  memory_enabled: boolean;
  is_persistent: boolean;
  replay_state: ReplayState | null;
  /** Only in the answer to `shared: true`: the link, whose token is told once. */
  share?: ShareLink;
  /** Only where they are set. */
  system_prompt?: string;
  settings?: ModelSettings;
  tools?: ToolsOffered;
}

/** A session that plays another again. */
export interface ReplayState {
  source_session_id: string;
  from_sequence: number;
  /** Messages in all, and how many of them were said. */
  total: number;
  position: number;
  speed: number;
  status: 'running' | 'paused' | 'stopped' | 'finished';
}

export interface ShareLink {
  id: string;
  session_id: string;
  token: string | null;
  path: string | null;
  created_at: string;
}

/** How a model is asked; what it does not take is left out or changed, and its turn says so. */
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

/** Names are of built-in tools. */
export type ToolsOffered = 'all' | 'none' | (string | ToolDefinition)[];

export type TurnStatus = 'streaming' | 'completed' | 'paused' | 'failed' | 'interrupted';
export type ToolStatus = 'pending' | 'done' | 'error' | 'cancelled' | 'awaiting_answer';

/** What only the vendor that made a block or a call can check; there once the turn has ended. */
export interface Proof {
  vendor: string;
  signature?: string;
  id?: string;
  data?: string;
}

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
  /** The client runs it, and gives its result. */
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
  /** Seed 001, A.6: token_usage, latency_ms, model_version, trace_id, safety_check, citation_map … With the end of the turn. */
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

export interface PromptVariable {
  name: string;
  declared: boolean;
  found: boolean;
  required: boolean;
  type?: string | null;
  default?: unknown;
  options?: unknown[] | null;
}

export interface PromptVersion {
  prompt_id: string;
  version: number;
  type: 'text' | 'structured';
  content: PromptContent;
  note: string;
  content_hash: string;
  variables: PromptVariable[];
  based_on: number | null;
  restored_from: number | null;
  created_at: string;
}

export interface Prompt {
  id: string;
  name: string;
  description: string;
  folder: string;
  tags: string[];
  is_pinned: boolean;
  type: 'text' | 'structured';
  latest_version: number;
  labels: Record<string, number>;
  revision: number;
  created_at: string;
  updated_at: string;
  /** When one prompt is asked for. */
  latest?: PromptVersion;
}

export interface PromptDiff {
  is_same: boolean;
  blocks: {
    id: string;
    role: string | null;
    change: 'same' | 'added' | 'removed' | 'changed' | 'moved' | 'moved_changed';
    from_index: number | null;
    to_index: number | null;
    words?: { op: 'same' | 'added' | 'removed'; text: string }[];
  }[];
  members: { pointer: string; change: 'added' | 'removed' | 'changed'; from?: unknown; to?: unknown }[];
}

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

export interface PromptFile { path: string; text: string }

export interface PromptImported {
  items: {
    path: string; prompt_id: string; name: string; outcome: 'created' | 'version' | 'same' | 'skipped'; version?: number;
  }[];
  problems: { path: string; detail: string }[];
}

export interface MemoryDraft {
  content: string;
  type?: 'feedback' | 'experience';
  skill_name?: string | null;
  record_type?: 'memory' | 'skill_comment' | null;
  scope?: string | null;
  owner?: string | null;
  topic?: string | null;
  mem0_id?: string | null;
  write_reason?: string | null;
  disabled?: boolean;
  source_session?: string | null;
}

export interface Memory extends Required<MemoryDraft> {
  id: number;
  superseded_by: number | null;
  created_at: string;
  updated_at: string | null;
  hit_count: number;
  last_hit_at: string | null;
}

export interface PromptRef {
  prompt_id: string;
  version?: number | string;
  variables?: Record<string, string | number | boolean>;
}

export interface ScheduledTaskDraft {
  title: string;
  cron: string;
  prompt?: string;
  prompt_ref?: PromptRef | null;
  timezone?: string;
  enabled?: boolean;
  expires_at?: string | null;
  skip_confirmations?: boolean;
  model?: string | null;
  overlap?: 'skip' | 'queue' | 'allow' | 'replace';
}

export interface ScheduledTask extends Required<ScheduledTaskDraft> {
  id: string;
  next_run_at: string | null;
  last_run_at: string | null;
  failures: number;
  disabled_reason: string | null;
  created_at: string;
  updated_at: string;
}

export interface ScheduledTaskRun {
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

export interface Occurrence { at: string; local: string }

export interface CalendarItem extends Occurrence {
  task_id: string;
  title: string;
  run: ScheduledTaskRun | null;
}

export interface CronExplained { cron: string; timezone: string; en: string; zh: string; next: string[] }

export interface Blob {
  id: string;
  sha256: string;
  size: number;
  content_type: string;
  name: string | null;
  url: string;
  created_at: string;
}

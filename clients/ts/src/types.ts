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
  replay_state: unknown;
}

export type TurnStatus = 'streaming' | 'completed' | 'paused' | 'failed' | 'interrupted';
export type ToolStatus = 'pending' | 'done' | 'error' | 'cancelled' | 'awaiting_answer';

export interface ContentBlock {
  type: string;
  content: unknown;
  tool_call_id: string | null;
  tool_name: string | null;
  display_name: string | null;
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

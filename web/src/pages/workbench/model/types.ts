/** What the server says of prompts, as far as this page reads it. */
import type { Content, Stored } from './prompt';

export interface Version {
  version: number;
  type: 'text' | 'structured';
  content?: Content;
  note: string;
  created_at: string;
  restored_from: number | null;
  words_added?: number | null;
  words_removed?: number | null;
  author?: string | null;
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
  updated_at: string;
  latest?: Version;
}

export interface Draft extends Stored {
  revision: number;
  based_on: number;
  updated_at: string;
}

export interface Edit { op: string; pointer: string; value?: unknown }

export interface Finding {
  code: string;
  severity: 'error' | 'warning' | 'info';
  pointer: string;
  message: string;
  message_zh?: string;
  params?: Record<string, unknown>;
  fix?: Edit[];
}

export interface Diff {
  is_same: boolean;
  blocks: DiffBlock[];
  members: { pointer: string; change: 'added' | 'removed' | 'changed'; from?: unknown; to?: unknown }[];
}

export interface DiffBlock {
  id: string;
  role: string | null;
  change: 'same' | 'added' | 'removed' | 'changed' | 'moved' | 'moved_changed';
  from_index: number | null;
  to_index: number | null;
  words?: { op: 'same' | 'added' | 'removed'; text: string }[];
}

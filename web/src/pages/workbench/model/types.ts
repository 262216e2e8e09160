/** What the server says of prompts, as far as this page reads it. */
import type { Prompt as StoredPrompt, PromptDiff, PromptVersion } from '@parley/client';
import type { Content, Stored } from './prompt';

/** A version of a list has its words counted, one that was asked for has its content. */
export type Version = Pick<PromptVersion, 'version' | 'type' | 'note' | 'created_at' | 'restored_from'> & { content?: Content; words_added?: number | null; words_removed?: number | null; author?: string | null };
export type Prompt = Omit<StoredPrompt, 'latest'> & { latest?: Version };

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

export type Diff = PromptDiff;
export type DiffBlock = PromptDiff['blocks'][number];

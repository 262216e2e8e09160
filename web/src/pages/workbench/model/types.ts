/** The server's data of prompts, as far as this page reads it. */
import type { Prompt as StoredPrompt, PromptDiff, PromptVersion, Schemas } from '@parley/client';
import type { Content, Stored } from './prompt';

/** In a list a version has its word count; requested alone it has its content. */
export type Version = Pick<PromptVersion, 'version' | 'type' | 'note' | 'created_at' | 'restored_from'> & { content?: Content; words_added?: number | null; words_removed?: number | null; author?: string | null };
export type Prompt = Omit<StoredPrompt, 'latest'> & { latest?: Version };

export type Draft = Stored & Pick<Schemas['StoredDraft'], 'revision' | 'based_on' | 'updated_at'>;

export type Edit = Schemas['LintEdit'];
export type Finding = Schemas['Linted']['findings'][number];

export type Diff = PromptDiff;
export type DiffBlock = PromptDiff['blocks'][number];

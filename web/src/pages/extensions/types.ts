/** The server's data of an extension: what its manifest declares, what the policy decides about it, what it has registered. */
import type { Schemas } from '@parley/client';

export type Capability = Schemas['ExtensionCapability'];
export type Decision = Capability['decision'];
export type Tool = Schemas['ExtensionTool'];
export type Extension = Schemas['Extension'];
export type Mine = Schemas['ExtensionOfUser'];

/** The state for this user now; the lists of hooks and tools exist once it has run. */
export interface Explained {
  has_registered: boolean;
  refused_tools?: { name: string; reason: string }[];
  hooks?: string[];
  denied_hooks?: string[];
  unknown_hooks?: string[];
}

export interface LogLine { ts: string; level: string; event: string; message: string }

/** Paths, hosts and names of variables. */
export const places = (one: Capability): string[] => [...one.paths ?? [], ...one.hosts ?? [], ...one.env ?? []];

/** A person's decision on a capability of this extension; without one, the profile decides. */
export type Choice = 'profile' | 'allow' | 'deny';
export const choiceOf = (ext: Extension, capability: string): Choice =>
  ext.denied.includes(capability) ? 'deny' : ext.granted.includes(capability) ? 'allow' : 'profile';

/** Returns the two lists after a choice. */
export function chosen(ext: Extension, capability: string, choice: Choice): { grant: string[]; deny: string[] } {
  const without = (list: readonly string[]): string[] => list.filter((one) => one !== capability);
  return {
    grant: [...without(ext.granted), ...(choice === 'allow' ? [capability] : [])],
    deny: [...without(ext.denied), ...(choice === 'deny' ? [capability] : [])],
  };
}

/** Capabilities that this version asks for and the last one did not, while nobody has decided them for this extension. */
export const isNew = (ext: Extension, one: Capability): boolean => !!one.new_since_version && choiceOf(ext, one.capability) === 'profile';

/** The names of a tool's parameters. */
export const parameters = (tool: Tool): string[] => {
  const of = tool.definition.properties;
  return of && typeof of === 'object' ? Object.keys(of) : [];
};

declare module 'virtual:words' {
  export type Group = 'base' | 'frame' | 'pdf' | 'segments' | 'blocks' | 'first' | 'workbench' | 'sessions' | 'viewer' | 'runs' | 'memory' | 'tasks' | 'extensions' | 'settings' | 'audit' | 'share';
  export const needs: Record<Group, Group[]>;
  export function load(lang: 'en' | 'zh-CN', group: Group): Promise<Record<string, string>>;
}
declare module '*.css?inline' {
  const css: string;
  export default css;
}

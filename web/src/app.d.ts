declare module 'virtual:words' {
  export type Group = 'base' | 'frame' | 'pdf' | 'segments' | 'blocks' | 'first' | 'workbench' | 'sessions' | 'viewer' | 'runs' | 'memory' | 'tasks' | 'extensions' | 'settings' | 'audit' | 'share';
  export const needs: Record<Group, Group[]>;
  export const load: Record<'en' | 'zh-CN', Record<Group, () => Promise<{ default: Record<string, string> }>>>;
}
declare module '*.css?inline' {
  const css: string;
  export default css;
}

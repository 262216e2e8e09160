declare module 'virtual:words/en' {
  const words: Record<string, string>;
  export default words;
}
declare module 'virtual:words/zh-CN' {
  const words: Record<string, string>;
  export default words;
}
declare module '*.css?inline' {
  const css: string;
  export default css;
}

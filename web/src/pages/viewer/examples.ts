/** Examples for a person without a document: one message of each kind. */
const revenue = {
  version: '1.0', model: 'claude-opus-4-8',
  messages: [
    { id: 'm1', role: 'system', timestamp: 1763287200000, segments: [
      { kind: 'system_prompt', content: '你是一名严谨的财务研究助理。只引用给出的资料；没有依据的结论要明说。今天是 {{today}}。', collapsed: false },
      { kind: 'memory', description: '与本次问题有关的三条', items: [{ title: '口径', content: '用户说的“营收”一律指合并报表口径。' }, { title: '格式', content: '先给结论，再给依据；数字带单位。' }, { title: '时区', content: '用户在上海。' }], collapsed: false },
      { kind: 'skills', items: [{ name: 'read-pdf', description: 'Find a passage in a PDF and its page' }, { name: 'xbrl', description: 'Read tagged financial statements' }, { name: 'chart', description: 'Draw a small chart from a table' }], collapsed: false },
      { kind: 'tool_overview', items: [
        { name: 'search_knowledge_base', description: 'Search papers and reports', parameters: 'keywords, year_filter', schema: { type: 'object', properties: { keywords: { type: 'array', items: { type: 'string' } }, year_filter: { type: 'integer' } }, required: ['keywords'] } },
        { name: 'open_page', description: 'Read one page of a document', parameters: 'source_id, page', schema: { type: 'object', properties: { source_id: { type: 'string' }, page: { type: 'integer' } }, required: ['source_id', 'page'] } }], collapsed: false },
    ] },
    { id: 'm2', role: 'user', timestamp: 1763287260000, segments: [
      { kind: 'text', content: '请比较 2023 年与 2022 年的营收，语气' }, { kind: 'static_var', name: 'tone', value: '正式、简短', description: '语气' }, { kind: 'text', content: '，并指出增长来自哪里。' },
      { kind: 'document', fileName: '2023_Financial_Report.pdf', mimeType: 'application/pdf', snippet: 'Revenue increased by 20% YoY.', sizeBytes: 2400000, parsedContent: 'Revenue increased by 20% YoY. Cloud services grew 34%.' },
      { kind: 'media', mediaType: 'image', url: 'https://s3.amazonaws.com/reports/revenue.png?X-Amz-Date=20240321T000000Z&X-Amz-Expires=3600' },
      { kind: 'long_text', content: '一、术语。本合同所称“营收”指合并利润表中的营业收入，不含增值税。'.repeat(180), charCount: 5940, collapsed: true },
    ] },
    { id: 'm3', role: 'assistant', timestamp: 1763287262000, segments: [
      { kind: 'text', content: '我先查知识库。' },
      { kind: 'tool_call_request', toolName: 'search_knowledge_base', arguments: { keywords: ['revenue', 'cloud services'], year_filter: 2023 }, collapsed: false },
      { kind: 'tool_call_result', toolName: 'search_knowledge_base', result: '{"error_type":"InvalidDateRange","message":"The year 2023 is in the future relative to the database snapshot (2022). Please try an earlier year."}', success: false, collapsed: false },
      { kind: 'tool_call_request', toolName: 'open_page', arguments: { source_id: 'doc_fin_report_2023', page: 42 }, collapsed: false },
      { kind: 'tool_call_result', toolName: 'open_page', result: '{"text":"Revenue increased by 20% YoY. Cloud services grew 34%."}', success: true, collapsed: false },
      { kind: 'text', content: '2023 年营收同比增长 20%，主要来自云服务（+34%）。' },
    ] },
  ],
};

export const revenueText = (): string => JSON.stringify(revenue, null, 2);

// The languages of the documents: for each its folder in docs/ and in the site, and the texts around its pages.
export const LANGUAGES = [
  {
    lang: 'en', folder: '', name: 'English', sectionCharacters: 600,
    words: {
      site: 'Parley: documentation', first: 'What Parley is', skip: 'To the text', menu: 'Menu', search: 'Search', searchAll: 'Search the documentation',
      found: 'Found', none: 'Nothing found', theme: 'Light or dark', pages: 'Pages', contents: 'On this page', around: 'Next and previous page',
      here: 'Link to this section:', table: 'Table',
    },
  },
  {
    // A Chinese character carries about as much as two or three letters.
    lang: 'zh-CN', folder: 'zh-CN', name: '中文', sectionCharacters: 250,
    words: {
      site: 'Parley：文档', first: 'Parley 是什么', skip: '跳到正文', menu: '目录', search: '搜索', searchAll: '搜索文档',
      found: '搜索结果', none: '没有找到', theme: '浅色或深色', pages: '页面', contents: '本页内容', around: '上一页和下一页',
      here: '本节链接：', table: '表格', only: '（英文）',
    },
  },
];

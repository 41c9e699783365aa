/** A page of ours: its script creates all content. */
export interface HtmlPage {
  readonly title: string;
  /** Name of its script and its style, and of the element that they fill. */
  readonly name: string;
  /** URL path of the folder with both files. */
  readonly folder: string;
  readonly meta: Readonly<Record<string, string>>;
}

/** @param page must not contain text from outside: it is not escaped */
export function htmlOf({ title, name, folder, meta }: HtmlPage): string {
  const metas = { viewport: 'width=device-width, initial-scale=1', ...meta };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${Object.entries(metas)
  .map(([key, content]) => `<meta name="${key}" content="${content}">`)
  .join('\n')}
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}${name}.css">
<script type="module" src="${folder}${name}.js"></script>
</head>
<body><div id="${name}"></div></body>
</html>
`;
}

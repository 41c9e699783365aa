/**
 * The file of a program that is run: it checks Node's version, then loads the program. Node resolves all imported names before
 * it runs the first line of a module, and a name that an old Node does not have causes a SyntaxError. So this file imports
 * nothing, and every Node with ES modules can read it.
 * @param needed the version range of package.json, such as `>=20.12`
 */
export function starter(main, { program, needed }) {
  const [major, minor] = needed.replace(/^>=/, '').split('.').map(Number);
  const advice =
    `Install Node.js 22, for example from https://nodejs.org/en/download: ` +
    `the package "nodejs" of Debian 12 and Raspberry Pi OS bookworm is too old.`;
  const needs = `${program}: this needs Node.js ${major}.${minor} or newer, and `;
  return `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < ${major} || (major === ${major} && minor < ${minor})) {
  process.stderr.write(${JSON.stringify(needs)} + process.execPath + ' is ' + process.versions.node + ${JSON.stringify(`. ${advice}
`)});
  process.exit(2);
}
await import('${main}');
`;
}

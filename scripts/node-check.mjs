/**
 * Makes a bundle print what to install if Node is too old. Node resolves all imported names before it runs the first line of a
 * module. A name that an old Node does not have causes a SyntaxError. Therefore the bundle looks up the names of Node's own
 * modules itself, after the check.
 */

const NAMED = /^import (?:(\w+), )?\{([^}]*)\} from "((?:node:)?[\w/]+)";$/gm;

/** The check, on one line. `needed` is the version range of package.json, such as `>=20.12`. */
function checkLine(program, needed) {
  const [major, minor] = needed.replace(/^>=/, '').split('.').map(Number);
  const advice =
    `Install Node.js 22, for example from https://nodejs.org/en/download: ` +
    `the package "nodejs" of Debian 12 and Raspberry Pi OS bookworm is too old.`;
  return [
    `const bundleNode = process.versions.node.split(".").map(Number);`,
    `if (bundleNode[0] < ${major} || (bundleNode[0] === ${major} && bundleNode[1] < ${minor})) {`,
    `process.stderr.write(${JSON.stringify(`${program}: this needs Node.js ${major}.${minor} or newer, and `)}`,
    ` + process.execPath + " is " + process.versions.node + ". " + ${JSON.stringify(`${advice}\n`)});`,
    `process.exit(2); }`,
  ].join(' ');
}

/** Adds the check. The number of lines stays the same, so that the source map is still correct. */
export function checkNodeFirst(text, { program, needed, marker }) {
  if (text.split(marker).length !== 2) throw new Error('the bundle has no place for the check of Node');
  const lookups = [];
  const loose = text.replace(NAMED, (statement, byDefault, names, module) => {
    const space = `bundleBuiltin${lookups.length}`;
    lookups.push(`const {${names.replaceAll('\n', ' ').replaceAll(' as ', ': ')}} = ${space};`);
    const also = byDefault === undefined ? '' : `${byDefault}, `;
    return `import ${also}* as ${space} from "${module}";${'\n'.repeat(statement.split('\n').length - 1)}`;
  });
  return loose.replace(marker, () => [checkLine(program, needed), ...lookups].join(' '));
}

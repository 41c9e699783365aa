/**
 * Loaded into a program (`node -r`). It simulates a dead disk: once the file HANGING_DISK/hangs exists, every access to a file in
 * HANGING_DISK opens a pipe without a writer instead, so that a thread of Node really hangs.
 */
const fs = require('node:fs');
const files = require('node:fs/promises');

const disk = process.env.HANGING_DISK;
const open = files.open;

for (const name of ['access', 'lstat', 'mkdir', 'open', 'readFile', 'rename', 'rm', 'stat', 'writeFile']) {
  const real = files[name];
  files[name] = (path, ...more) => {
    const isDead = String(path).startsWith(`${disk}/`) && fs.existsSync(`${disk}/hangs`);
    return isDead ? open(`${disk}/pipe`, 'r') : real(path, ...more);
  };
}

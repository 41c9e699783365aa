/**
 * Loaded into a program (`node -r`): from the moment on when the file HANGING_DISK/hangs is there, every file of HANGING_DISK is on a
 * dead disk. A call for one of them opens a pipe that nobody writes to instead, and so a thread of Node is really
 * stuck in it.
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

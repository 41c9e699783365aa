/**
 * Every program imports this file first. On SIGUSR1 Node opens a debugger port, and its clients can read tokens and keys
 * from memory. Our own listener prevents that; a port that was opened during loading is closed again. With --inspect the
 * user wants the port, so it stays open.
 */
import inspector from 'node:inspector';

process.on('SIGUSR1', () => {});

const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
const isWanted = /--inspect(-brk|-wait)?(=|\s|$)/.test(options);
if (!isWanted && inspector.url() !== undefined) inspector.close();

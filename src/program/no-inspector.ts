/**
 * To be imported before anything else by a program. Node opens a debugger's port at SIGUSR1, and whoever connects to it reads
 * tokens and keys from the memory. A listener of our own takes that away; a port that was opened while the program
 * was being loaded is closed again. Who starts the program with --inspect has asked for it.
 */
import inspector from 'node:inspector';

process.on('SIGUSR1', () => {});

const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
const isWanted = /--inspect(-brk|-wait)?(=|\s|$)/.test(options);
if (!isWanted && inspector.url() !== undefined) inspector.close();

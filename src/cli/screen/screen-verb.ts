import { InvalidArgumentError } from 'commander';
import { examples, type Verb } from '../../program/program.ts';
import type { RunHost } from '../run/run-verb.ts';
import type { ScreenOptions } from './perform-screen.ts';

export function createScreenVerb(host: RunHost): Verb {
  return {
    register(program, shell) {
      program
        .command('screen')
        .description("show the kiosk's page on this machine's screen, until SIGTERM")
        .option('--port <n>', 'port of the page ("screen.port" of the configuration)', readPort, 8484)
        .option('--tty', 'show captions as text on this console instead, for boards with little memory')
        .addHelpText(
          'after',
          '\nStarts chromium in the compositor cage when the agent serves the page. Ends with\nexit code 1 when the page has not been painted for 20 s, so that its unit starts\nit again (dragoman-screen.service).\n\nWith --tty it needs no browser, and shows only Latin, Greek and Cyrillic\nletters.',
        )
        .addHelpText(...examples('dragoman screen', 'dragoman screen --tty'))
        .action(async (options: ScreenOptions) => {
          // Loaded here, because the daemon never needs it.
          const { performScreen } = await import('./perform-screen.ts');
          await performScreen(options, shell, host);
        });
    },
  };
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port, 1 to 65535.');
}

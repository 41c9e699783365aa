import { InvalidArgumentError } from 'commander';
import type { SignalSource } from '../../agent/daemon.ts';
import { examples, type Verb } from '../../program/program.ts';
import type { ScreenOptions } from './perform-screen.ts';

export function createScreenVerb(signals: SignalSource): Verb {
  return {
    register(program, shell) {
      program
        .command('screen')
        .description("show the kiosk's page on this machine's screen, until SIGTERM")
        .option('--port <n>', 'port of the page ("screen.port" of the configuration)', readPort, 8484)
        .addHelpText(
          'after',
          '\nStarts chromium in the compositor cage when the agent serves the page. Ends with\nexit code 1 when the page has not been painted for 20 s, so that its unit starts\nit again (dragoman-screen.service).',
        )
        .addHelpText(...examples('dragoman screen'))
        .action(async (options: ScreenOptions) => {
          // Loaded here, because the daemon never needs it.
          const { performScreen } = await import('./perform-screen.ts');
          await performScreen(options, shell, signals);
        });
    },
  };
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port, 1 to 65535.');
}

import { AudioFaultError } from '../../adapters/audio/fault.ts';
import { loadConfig } from '../../adapters/config/load.ts';
import { chooseLogFormat, createLogger, loadFormat } from '../../adapters/log.ts';
import { runningWith } from '../../adapters/state-file.ts';
import { isService } from '../../adapters/systemd/invocation.ts';
import { createSystemdNotifier, NO_INIT_SYSTEM } from '../../adapters/systemd/notifier.ts';
import { UnusableFile } from '../../device/config/unusable-file.ts';
import { runDaemon } from '../../device/daemon.ts';
import type { SignalSource } from '../../device/process/signal-source.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell, type Verb } from '../../program/program.ts';
import { compileSooner } from '../../program/tuning.ts';
import { formatProblems } from '../check-config/check-config.ts';
import { runService } from './run-service.ts';

/** Time after which the start is certainly over (ms). */
const SETTLED_MS = 10_000;

/** The part of the process that the daemon needs. */
export interface RunHost {
  readonly output: NodeJS.WriteStream & { readonly fd: number };
  readonly signals: SignalSource;
  /** Sets the function that records an uncaught error before the program ends. */
  onCrash(record: (error: unknown) => void): void;
  /** Called when the agent has ended: everything is closed, or abandoned because it hangs. */
  onClosed(): void;
}

export function createRunVerb(host: RunHost): Verb {
  return {
    register(program, shell) {
      program
        .command('run')
        .description('run the agent until SIGTERM; SIGHUP reads the configuration again')
        .requiredOption('--config <file>', 'configuration file (conf.d/*.json beside it is read, too)')
        .addHelpText(...examples('dragoman run --config /etc/dragoman/config.json'))
        .action((options: { config: string }) => run(options.config, shell, host));
    },
  };
}

async function run(file: string, shell: Shell, host: RunHost): Promise<void> {
  const { output, signals, onCrash } = host;
  // Delayed, because much of the start's code never runs again.
  setTimeout(compileSooner, SETTLED_MS).unref();
  const { env } = shell;
  if (isService(env)) {
    const known = loadConfig({ file, env });
    const wanted = known.ok ? known.config.log.journal : 'text';
    const format = await loadFormat(chooseLogFormat(output, env, wanted));
    const logger = createLogger({ level: 'info', format, sink: output });
    const recordCrash = (err: unknown): void => logger.fatal({ err }, 'unexpected failure');
    onCrash(recordCrash);
    const initSystem = createSystemdNotifier(env, logger);
    try {
      await runService({ file, env, logger, signals, initSystem });
      return host.onClosed();
    } catch (error) {
      recordCrash(error);
      throw error;
    }
  }
  const load = () => loadConfig({ file, env });
  const loaded = load();
  if (!loaded.ok) {
    shell.complain(formatProblems(loaded.problems, file, 'nothing was started'));
    return shell.finish(EXIT.usage);
  }
  const { config } = loaded;
  const logger = createLogger({
    level: config.log.level,
    format: await loadFormat(chooseLogFormat(output, env, config.log.journal)),
    sink: output,
  });
  const recordCrash = (err: unknown): void => logger.fatal({ err }, 'unexpected failure');
  onCrash(recordCrash);
  try {
    await runDaemon({
      config,
      reload: load,
      logger,
      signals,
      initSystem: NO_INIT_SYSTEM,
      env: runningWith(file, env),
    });
    host.onClosed();
  } catch (error) {
    if (error instanceof UnusableFile || error instanceof AudioFaultError) {
      throw new Failure(`${error.message}. Fix it in ${file} and restart.`, EXIT.usage);
    }
    recordCrash(error);
    throw error;
  }
}

import type { LaneAccount } from '../../device/lane/runner/lane-account.ts';
import type { Clock } from '../../ports/clock.ts';
import { renderFrame, type Size } from './live-frame.ts';
import { capabilitiesOf, type LiveHost, processHost } from './live-host.ts';
import { holdKeys, type KeySignal } from './live-keys.ts';
import { follow, isMoving, type Meter, SILENT_METER } from './live-meter.ts';
import { createScreen, type LiveTerminal } from './live-screen.ts';
import type { DemoModel, DemoView } from './model.ts';

/** Minimum time between frames (ms): twelve per second look smooth at low cost. */
const FRAME_MS = 84;
/** Pause after a size change (ms), because the size changes often while a window is dragged. */
const RESIZE_REST_MS = 120;
/** Size of a terminal that does not report one. */
const USUAL_SIZE: Size = { columns: 80, rows: 24 };

/**
 * Shows the demo as a live picture, drawn at most twelve times per second and only after changes. At any end (`close`,
 * process exit, Ctrl-Z) the last picture stays and the terminal is restored.
 */
export function createLiveView(
  terminal: LiveTerminal,
  clock: Clock,
  host: LiveHost = processHost(),
): DemoView {
  return new LiveView(terminal, clock, host);
}

class LiveView implements DemoView {
  private readonly terminal: LiveTerminal;
  private readonly clock: Clock;
  private readonly host: LiveHost;
  private readonly screen: ReturnType<typeof createScreen>;
  private latest: { model: DemoModel; account: LaneAccount } | null = null;
  private pages: readonly string[] = [];
  private input: Meter = SILENT_METER;
  private output: Meter = SILENT_METER;
  private restsUntil = Number.NEGATIVE_INFINITY;
  private cancelTimer: (() => void) | null = null;
  private closeKeys: (() => void) | null = null;
  private isClosed = false;

  constructor(terminal: LiveTerminal, clock: Clock, host: LiveHost) {
    this.terminal = terminal;
    this.clock = clock;
    this.host = host;
    this.screen = createScreen(terminal, true);
    terminal.on('resize', this.onResize);
    host.on('exit', this.restore);
    host.on('SIGCONT', this.onContinue);
  }

  update(model: DemoModel, account: LaneAccount): void {
    if (this.isClosed) return;
    this.latest = { model, account };
    this.schedule();
  }

  showPages(lines: readonly string[]): void {
    this.pages = lines;
    this.schedule();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.cancelTimer?.();
    this.terminal.off('resize', this.onResize);
    this.host.off('exit', this.restore);
    this.host.off('SIGCONT', this.onContinue);
    try {
      this.draw();
    } finally {
      this.restore();
    }
  }

  private schedule(): void {
    if (this.cancelTimer !== null) return;
    if (this.clock.now() >= this.restsUntil) return this.draw();
    this.cancelTimer = this.clock.at(this.restsUntil, () => {
      this.cancelTimer = null;
      this.draw();
    });
  }

  private draw(): void {
    if (this.latest === null) return;
    const { model, account } = this.latest;
    const now = this.clock.now();
    this.input = follow(this.input, model.inputDb, now);
    this.output = follow(this.output, model.outputDb, now);
    const size = this.size();
    const live = { ...model, pages: this.pages, inputMeter: this.input, outputMeter: this.output };
    const rows = renderFrame(live, account, size, capabilitiesOf(this.terminal, this.host.env));
    this.closeKeys ??= holdKeys(this.host.input, this.onSignalKey);
    this.screen.draw(rows, size.columns);
    this.restsUntil = now + FRAME_MS;
    const isAtRest = !isMoving(this.input, model.inputDb) && !isMoving(this.output, model.outputDb);
    if (!isAtRest && !this.isClosed) this.schedule();
  }

  private size(): Size {
    // A terminal without a known size reports 0.
    return {
      columns: this.terminal.columns || USUAL_SIZE.columns,
      rows: this.terminal.rows || USUAL_SIZE.rows,
    };
  }

  private readonly onResize = (): void => {
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.restsUntil = this.clock.now() + RESIZE_REST_MS;
    this.schedule();
  };

  private readonly restore = (): void => {
    this.screen.restore();
    this.closeKeys?.();
    this.closeKeys = null;
  };

  private readonly onSignalKey = (signal: KeySignal): void => {
    // The terminal must be restored before the process stops.
    if (signal !== 'SIGINT') this.restore();
    this.host.raise(signal);
  };

  /** After a stop, draws the picture below the output of the shell. */
  private readonly onContinue = (): void => {
    this.restore();
    this.schedule();
  };
}

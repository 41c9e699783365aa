import type { LaneAccount } from '../../agent/lane/lane-account.ts';
import type { DemoModel } from './model.ts';

/** What a demo shows itself on: a terminal's live picture, or plain lines. */
export interface DemoView {
  /** Is called often; draws as often as is good for it. */
  update(model: DemoModel, account: LaneAccount): void;
  /** Leaves the screen as a person would want to find it. Nothing is drawn after it. */
  close(): void;
}

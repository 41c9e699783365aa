/** Advice for statuses that need no action. */
export const NOTHING = 'Nothing.';

/** The statuses of a device: each once, with its English for owners. The table in docs/operate.md is generated from it. */
export const STATUSES = {
  ready: { means: 'A word spoken now would be heard and answered.', todo: NOTHING },
  idle: {
    means: 'It deliberately does not listen: stopped, muted, closed, or waiting for the command `start`.',
    todo: 'Send `start` or `unmute` when it should listen.',
  },
  degraded: { means: 'It should be ready and is not.', todo: 'See the reasons.' },
  stopping: { means: 'It is shutting down, and closes its sessions.', todo: NOTHING },
  offline: {
    means: 'The agent was shut down.',
    todo: 'Start it on the device if it should run: `systemctl start dragoman`.',
  },
  lost: {
    means: 'It disappeared without a clean shutdown, or was silent for 3 minutes.',
    todo: 'Check its power and its network. It comes back by itself.',
  },
} as const satisfies Record<string, { readonly means: string; readonly todo: string }>;
export type DeviceStatus = keyof typeof STATUSES;
export const DEVICE_STATUSES = Object.keys(STATUSES) as [DeviceStatus, ...DeviceStatus[]];

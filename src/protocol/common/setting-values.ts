/** Values that the configuration shares with the commands. */
export const VOLUME_PERCENT = { min: 0, max: 100, default: 100 } as const;
export const ECHO_MODES = ['half-duplex', 'cancel', 'off'] as const;
export const BARGE_IN_MODES = ['duck', 'flush'] as const;
export const START_MODES = ['boot', 'command', 'voice'] as const;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

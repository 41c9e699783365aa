import * as z from 'zod';

/** Values that the configuration shares with the commands. */
export const VOLUME_PERCENT = { min: 0, max: 100, default: 100 } as const;
export const ECHO_MODES = ['half-duplex', 'cancel', 'off'] as const;
export const BARGE_IN_MODES = ['duck', 'flush'] as const;
export const START_MODES = ['boot', 'command', 'voice'] as const;
/** What the owner may demand of a broker; with `auto` the program finds out. */
export const mqttVersionSchema = z.union(
  [z.literal('auto'), z.literal(5), z.literal(4)],
  'must be "auto", 5 or 4 (4 is MQTT 3.1.1)',
);
export type MqttVersion = z.infer<typeof mqttVersionSchema>;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

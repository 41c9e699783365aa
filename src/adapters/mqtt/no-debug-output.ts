/**
 * Import this before anything that loads MQTT.js or the embedded broker. When the variable DEBUG asks for everything, their packet
 * writer prints user names, passwords and payloads; it reads the variable when it is loaded.
 */
const { DEBUG } = process.env;
if (DEBUG !== undefined && DEBUG !== '') process.env['DEBUG'] = `${DEBUG},-mqtt*`;

export {};

/**
 * To be imported before anything that loads MQTT.js or the embedded broker: their packet writer prints user names,
 * passwords and payloads when the variable DEBUG asks for everything, and reads that variable when it is loaded.
 */
const { DEBUG } = process.env;
if (DEBUG !== undefined && DEBUG !== '') process.env['DEBUG'] = `${DEBUG},-mqtt*`;

export {};

import { describeSecrecy } from './secrecy.ts';

/** The long test covers the others. */
describeSecrecy({ running: ['dragoman', 'backend'], loading: ['backend'], sections: ['*'] });

import { describeSecrecy } from './secrecy.ts';

/** The others are the long test's. */
describeSecrecy({ running: ['dragoman', 'backend'], loading: ['backend'], sections: ['*'] });

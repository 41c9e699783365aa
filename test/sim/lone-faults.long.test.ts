import { testLoneFaults } from './lone-faults.ts';
import { kindsOf } from './swarm.ts';
import { NEWEST } from './terms.ts';

testLoneFaults(kindsOf(NEWEST));

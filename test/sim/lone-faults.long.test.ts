import { testLoneFaults } from './lone-faults.ts';
import { kindsOf } from './swarm.ts';
import { USUAL } from './terms.ts';

testLoneFaults(kindsOf(USUAL));

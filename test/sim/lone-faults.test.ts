import { testLoneFaults } from './lone-faults.ts';

testLoneFaults(['reset']);

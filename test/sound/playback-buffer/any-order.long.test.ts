import { describeAnyOrder } from './any-order.ts';

describeAnyOrder(300);

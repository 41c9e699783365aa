import { describeFuzz } from './fuzz.ts';

describeFuzz({ orders: 40, frames: 400, requests: 100, sessions: 500, streams: 100 });

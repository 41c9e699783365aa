import { describeFuzz } from './fuzz.ts';

describeFuzz({ orders: 150, frames: 1500, requests: 400, sessions: 2000, streams: 500 });

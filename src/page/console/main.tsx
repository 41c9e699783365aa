import 'uplot/dist/uPlot.min.css';
import './console.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { beginRoutes } from './parts/route.ts';
import { beginTexts } from './texts/text.ts';

const place = document.getElementById('console');
void beginTexts().then(() => {
  beginRoutes();
  if (place !== null) render(<App />, place);
});

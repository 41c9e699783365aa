/**
 * Makes docs/screen.png: opens the kiosk's page of the demo, and keeps the picture when both languages have two lines.
 * Usage: npm run picture:screen
 */
import { LONGEST_MS, pictureAt, withDemo } from './picture/demo-browser.mjs';

const SIZE = { width: 1280, height: 720 };
const TWO_LINES = `['en', 'es'].every((language) =>
  document.querySelectorAll('.body[lang="' + language + '"] .line').length === 2) &&
  document.querySelector('.status[data-kind="listening"], .status[data-kind="speaking"]') !== null`;

await withDemo(async (page, { kiosk }) => {
  await page.setViewport(SIZE);
  await page.goto(kiosk);
  await page.waitForFunction(TWO_LINES, { timeout: LONGEST_MS });
  await page.screenshot({ path: pictureAt('screen.png') });
});

/**
 * Makes docs/screen.png: opens the kiosk's page of the demo, and keeps the picture when both languages have three sentences.
 * Usage: npm run picture:screen
 */
import { LONGEST_MS, pictureAt, withDemo } from './picture/demo-browser.mjs';

const SIZE = { width: 1280, height: 720 };
const THREE_SENTENCES = `['en', 'es'].every((language) =>
  document.querySelectorAll('.body[lang="' + language + '"] .sentence').length >= 3) &&
  document.querySelector('.status[data-kind="listening"], .status[data-kind="speaking"]') !== null`;

await withDemo(async (page, { kiosk }) => {
  await page.setViewport(SIZE);
  // No picture of lines that move.
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  await page.goto(kiosk);
  await page.waitForFunction(THREE_SENTENCES, { timeout: LONGEST_MS });
  await page.screenshot({ path: pictureAt('screen.png') });
});

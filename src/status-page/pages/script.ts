/** The script of the pages, which work without it: keeps what runs now fresh, and copies commands. */
export const SCRIPT = `'use strict';
(() => {
  const EVERY_MS = 5000;
  const live = () => document.getElementById('live');

  async function refresh() {
    if (document.hidden || !live()) return;
    // Whoever stands in it with the keyboard is not thrown out.
    if (live().contains(document.activeElement) || String(getSelection())) return;
    try {
      const answer = await fetch('now', { cache: 'no-store' });
      if (!answer.ok && answer.status !== 503) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('live');
      if (fresh && live() && fresh.innerHTML !== live().dataset.shown) {
        fresh.dataset.shown = fresh.innerHTML;
        live().replaceWith(fresh);
        addButtons(fresh);
      }
    } catch {
      // The worker may be restarting; the next time tells.
    }
  }

  function addButtons(within) {
    if (!navigator.clipboard) return;
    for (const command of within.querySelectorAll('pre.command')) {
      const text = command.textContent;
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = 'Copy';
      button.setAttribute('aria-label', 'Copy: ' + text);
      button.addEventListener('click', async () => {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
        setTimeout(() => { button.textContent = 'Copy'; }, 1500);
      });
      command.append(button);
    }
  }

  addButtons(document);
  if (live()) setInterval(refresh, EVERY_MS);
})();
`;

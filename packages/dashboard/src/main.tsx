import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { abortCalls } from './api/call-admin.ts';
import { createQueryClient } from './api/use-admin.ts';
import { App } from './app/app.tsx';
import { focusContentIfLost } from './app/location.ts';
import { applyTheme } from './app/preferences.ts';
import { TextProvider } from './i18n/text-context.tsx';
import './styles/base.css';
import './styles/layout.css';
import './styles/controls.css';
import './styles/overview.css';
import './styles/tools.css';
import './styles/people.css';

applyTheme();
addEventListener('beforeunload', abortCalls);
addEventListener('popstate', focusContentIfLost);
addEventListener(
  'keydown',
  (event) => {
    // A held Enter key presses a button or an entry of a menu once. Otherwise it would also press what gets the focus next, or undo its own change.
    const isPressed = event.repeat && event.key === 'Enter';
    if (isPressed && (event.target as Element).matches('button, [role^=menuitem]')) event.preventDefault();
  },
  true,
);
const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element "root"');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={createQueryClient()}>
      <TextProvider>
        <App />
      </TextProvider>
    </QueryClientProvider>
  </StrictMode>,
);

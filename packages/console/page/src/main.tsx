// Entry point of the page: the theme, the session, then the console.

// First, so that the style sheet of a part may say otherwise.
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { startSession } from './session.ts'
import { startTheme } from './theme.ts'

startTheme()
void startSession()
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
)

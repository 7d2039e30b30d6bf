/** The looks of the demo's shop: light or dark, and in one column where there is no room for two. */

export const DEMO_STYLE = `:root {
  --paper: #fff; --ink: #18181b; --quiet: #5f5f68; --line: #e4e4e7; --field: #f4f4f5; --lead: #14532d;
  --on-lead: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #141416; --ink: #ededf0; --quiet: #a1a1aa; --line: #313137; --field: #202024;
    --lead: #86d9a5; --on-lead: #0b1f13;
  }
}
* { box-sizing: border-box; }
body {
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 40px; margin: 0 auto; padding: 0 20px 40px;
  max-width: 1120px; color: var(--ink); background: var(--paper); font: 16px/1.55 system-ui, sans-serif;
}
header {
  display: flex; justify-content: space-between; align-items: center; padding: 16px 0;
  border-bottom: 1px solid var(--line);
}
nav { display: flex; gap: 20px; }
a { color: var(--lead); text-underline-offset: 3px; }
header a { text-decoration: none; }
.name { color: var(--ink); font-weight: 650; }
main { padding: 28px 0; }
h1 { margin: 0 0 12px; font-size: 28px; line-height: 1.2; outline: none; }
h2 { margin: 0 0 8px; font-size: 15px; }
p { margin: 0 0 16px; max-width: 62ch; }
small { color: var(--quiet); font-size: 13px; }
.price { font-size: 20px; }
.price small { margin-left: 8px; }
.products {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(148px, 1fr)); gap: 12px; margin: 24px 0 0;
  padding: 0; list-style: none;
}
.products a {
  display: flex; flex-direction: column; height: 100%; padding: 14px; border: 1px solid var(--line);
  border-radius: 8px; color: var(--ink); text-decoration: none;
}
.products a:hover { border-color: var(--lead); }
.products span { margin-top: auto; padding-top: 20px; }
button {
  margin-right: 12px; padding: 8px 16px; border: 1px solid var(--lead); border-radius: 8px;
  color: var(--on-lead); background: var(--lead); font: inherit; cursor: pointer;
}
button:disabled { opacity: 0.45; cursor: default; }
#copy { padding: 4px 12px; color: var(--lead); background: none; font-size: 14px; }
#cart { padding-left: 20px; }
#cart:empty { display: none; }
:is(a, button, pre):focus-visible { outline: 2px solid var(--lead); outline-offset: 2px; }
aside { padding: 24px 0 0; border-top: 1px solid var(--line); font-size: 14px; }
#sent {
  margin: 0 0 28px; padding: 0; max-height: 300px; overflow: auto; list-style: none;
  border: 1px solid var(--line); border-radius: 8px;
}
#sent li { padding: 8px 12px; overflow-wrap: anywhere; }
#sent li + li { border-top: 1px solid var(--line); }
#sent span { color: var(--quiet); }
#sent code { display: block; color: var(--quiet); font-size: 12px; white-space: pre-wrap; }
pre {
  margin: 0 0 12px; padding: 12px; border-radius: 8px; background: var(--field); font-size: 12px;
  overflow-x: auto;
}
@media (min-width: 900px) {
  body { grid-template-columns: minmax(0, 1fr) 400px; }
  header { grid-column: 1 / -1; }
  aside { padding: 28px 0 0 32px; border-top: 0; border-left: 1px solid var(--line); min-height: 80vh; }
  .products { grid-template-columns: repeat(3, 1fr); }
}
`

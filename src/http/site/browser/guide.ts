/** Sends old links to an operation of the reference, `/docs#/Analytics/…`, to the place where it is now. */
if (location.pathname === '/docs' && location.hash.startsWith('#/')) {
  location.replace(`/docs/reference${location.hash}`)
}

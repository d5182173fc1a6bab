/* Lets the search of the site run from file://, where browsers allow no workers: the worker's script runs in a hidden
 * frame instead. Named after the shim that would otherwise be loaded over the network. */
(function () {
  "use strict";
  if (window.location.protocol !== "file:") return;

  /** Deliver a copy of the data later, as a worker's messages are. */
  function deliver(target, data) {
    const copy = structuredClone(data);
    setTimeout(() => target.dispatchEvent(new MessageEvent("message", { data: copy })));
  }

  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.addEventListener("message", (event) => this.onmessage && this.onmessage(event));
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.postMessage = (data) => deliver(this, data);
      inside.importScripts = (...addresses) =>
        addresses.reduce(
          (before, each) =>
            before.then(
              () =>
                new Promise((loaded) => {
                  const script = inside.document.createElement("script");
                  script.src = each;
                  script.onload = loaded;
                  inside.document.head.append(script);
                })
            ),
          Promise.resolve()
        );
      inside.document.write(`<script src="${address}"></` + "script>");
      inside.document.close();
      // not before: the empty frame has a load event of its own
      this.loaded = new Promise((done) => this.frame.addEventListener("load", done));
    }

    postMessage(data) {
      this.loaded.then(() => deliver(this.frame.contentWindow, data));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
})();

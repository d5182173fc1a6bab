/* Lets the search of the site run from file://, where browsers allow no workers: the worker's script runs in a hidden
 * frame instead. Named after the shim that Material's `offline` plugin would load over the network. */
(function () {
  "use strict";
  if (window.location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      // the script posts to its parent, and loads further scripts one after the other
      inside.document.open();
      inside.document.write(
        "<script>" +
          "postMessage = (data) => parent.dispatchEvent(new MessageEvent('worker', { data }));" +
          "importScripts = (...addresses) => addresses.reduce((before, address) => before.then(() =>" +
          " new Promise((loaded) => { const script = document.createElement('script');" +
          " script.src = address; script.onload = loaded; document.head.append(script); })), Promise.resolve());" +
          "</" + "script><script src=\"" + address + "\"></" + "script>"
      );
      inside.document.close();
      window.addEventListener("worker", (event) => {
        const message = new MessageEvent("message", { data: event.data });
        if (this.onmessage) this.onmessage(message);
        this.dispatchEvent(message);
      });
      this.loaded = new Promise((done) => this.frame.addEventListener("load", done));
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
})();

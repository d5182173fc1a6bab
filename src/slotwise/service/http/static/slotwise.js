/* slotwise.js: reports the outcome of a list on a page, once, with navigator.sendBeacon.
 *
 *   slotwise.report(container, {token, url})
 *
 * `container` is an element whose descendants [data-item] are the items shown; `token` is the decision's; `url` is the
 * address of the service, by default the address of this script. The first of these is reported:
 *   a click on an item          {"clicked": item}, at once
 *   the page goes away          {"clicked": null}, if any of the list was ever in view
 *                               {"shown": false}, if none of it was
 * A visitor who comes back to the page and clicks still counts: a click may replace a no-click until the deadline.
 * Returns {stop}, which removes the handlers; a single-page application calls it when it removes the list.
 */
(function (global) {
  "use strict";

  var script = global.document && global.document.currentScript;
  var home = script && script.src ? new URL(".", script.src).href : "";
  // share of an item, or of the window, that must be in view for the list to count as shown
  var VISIBLE = 0.5;

  function send(address, token, outcome) {
    var body = JSON.stringify(Object.assign({ token: token }, outcome));
    // a plain string is sent as text/plain, which needs no permission from another origin beforehand
    if (global.navigator.sendBeacon && global.navigator.sendBeacon(address, body)) return;
    global
      .fetch(address, { method: "POST", body: body, keepalive: true, mode: "no-cors", credentials: "omit" })
      .catch(function () {});
  }

  function inView(entry) {
    // an item taller than the window is never half in view
    var tall = entry.intersectionRect.height >= VISIBLE * global.innerHeight;
    return entry.isIntersecting && (entry.intersectionRatio >= VISIBLE || tall);
  }

  function report(container, options) {
    if (!container || !options || typeof options.token !== "string") {
      throw new TypeError("slotwise.report(container, {token, url}) needs an element and the decision's token");
    }
    var address = (options.url || home).replace(/\/+$/, "") + "/v1/outcomes";
    var clicked = false;
    var left = false;
    var seen = false;
    var watch = null;

    function onClick(event) {
      // a middle click opens the item in another tab, a right click opens nothing yet
      if (clicked || (event.type === "auxclick" && event.button !== 1)) return;
      var item = event.target instanceof global.Element ? event.target.closest("[data-item]") : null;
      if (!item || !container.contains(item)) return;
      clicked = true;
      send(address, options.token, { clicked: item.getAttribute("data-item") });
    }

    function leave() {
      if (clicked || left) return;
      left = true;
      send(address, options.token, seen ? { clicked: null } : { shown: false });
    }

    function onHide() {
      // a list that was not in view yet may still come into view when the visitor is back: only the end of the page is sure
      if (global.document.visibilityState === "hidden" && seen) leave();
    }

    if (global.IntersectionObserver) {
      watch = new global.IntersectionObserver(
        function (entries) {
          if (entries.some(inView)) {
            seen = true;
            watch.disconnect();
          }
        },
        { threshold: [0, 0.1, 0.2, 0.3, 0.4, VISIBLE] }
      );
      container.querySelectorAll("[data-item]").forEach(function (item) { watch.observe(item); });
    } else {
      seen = true;
    }
    // capturing: a page whose own handlers stop the event is still heard
    container.addEventListener("click", onClick, true);
    container.addEventListener("auxclick", onClick, true);
    global.addEventListener("pagehide", leave);
    global.document.addEventListener("visibilitychange", onHide);

    return {
      stop: function () {
        leave();
        if (watch) watch.disconnect();
        container.removeEventListener("click", onClick, true);
        container.removeEventListener("auxclick", onClick, true);
        global.removeEventListener("pagehide", leave);
        global.document.removeEventListener("visibilitychange", onHide);
      },
    };
  }

  /* Fills `container` with the items of a decision, created by `render(item, slot)`, and reports the outcome. */
  function show(container, options) {
    var decision = options.decision;
    container.replaceChildren.apply(
      container,
      decision.items.map(function (id, index) {
        var element = options.render(id, index + 1);
        element.setAttribute("data-item", id);
        return element;
      })
    );
    return report(container, { token: decision.token, url: options.url });
  }

  global.slotwise = { report: report, show: show };
})(typeof window !== "undefined" ? window : this);

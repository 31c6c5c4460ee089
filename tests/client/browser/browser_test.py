"""browser_test.py REPORT_PAGE: a report as people use it, in a headless browser. Exit 77: there is no browser."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import devtools  # noqa: E402

FOCUSABLE = "a[href], button, select, input, summary, [tabindex='0']"
# Roles of what people operate or look at; all must have a name.
NAMED_ROLES = {"button", "link", "combobox", "searchbox", "textbox", "image", "img", "table", "region", "DisclosureTriangle",
               "navigation"}


def setUpModule():
    global folder, browser
    folder = tempfile.TemporaryDirectory(prefix="cupilot-report.")
    browser = devtools.Browser(devtools.find_program())


def tearDownModule():
    browser.close()
    folder.cleanup()


def page(variants):
    path = os.path.join(folder.name, "report%d.html" % variants)
    if not os.path.exists(path):
        subprocess.run([REPORT_PAGE, str(variants), path], check=True)
    return path


class ReportTest(unittest.TestCase):
    def setUp(self):
        browser.console.clear()
        browser.ask("Emulation.clearDeviceMetricsOverride")
        browser.ask("Emulation.setEmulatedMedia", media="", features=[])

    def load(self, variants=120, open_all=True):
        browser.open("/" + page(variants).lstrip("/"))
        self.assertEqual(browser.value("document.documentElement.dataset.ready"), "true", browser.console)
        if open_all:
            browser.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            browser.settle()
            browser.value("document.querySelectorAll('section details').forEach((one) => { one.open = true; })")
            browser.settle()

    def test_nothing_is_complained_of_and_nothing_of_the_data_runs(self):
        self.load()
        self.assertEqual(browser.console, [])
        self.assertEqual(browser.value("document.title"), "cuPilot report: p")
        self.assertEqual(browser.value("document.querySelectorAll('img, b, i, main script').length"), 0)
        self.assertIn("</script><script>", browser.value("document.querySelector('.source').textContent"))
        self.assertEqual(browser.value("performance.getEntriesByType('resource').length"), 0)

    def test_the_policy_refuses_scripts_that_are_put_in(self):
        self.load(open_all=False)
        browser.value("""(() => { try { const one = document.createElement('script');
            one.append('window.owned = true'); document.body.append(one); } catch (refused) {} })()""")
        self.assertIsNone(browser.value("window.owned"))
        browser.settle()
        self.assertTrue(browser.console, "the refusal is said")

    def test_every_chart_has_its_data_and_a_table(self):
        self.load()
        charts = browser.value("""[...document.querySelectorAll('figure.chart')].map((figure) => ({
            title: figure.querySelector('figcaption').textContent, points: figure.querySelectorAll('circle').length,
            step: (figure.querySelector('.step') || {getAttribute: () => ''}).getAttribute('d').length,
            rows: figure.parentElement.querySelectorAll('table tbody tr').length,
            broken: /NaN|undefined|Infinity/.test(figure.innerHTML)}))""")
        # Roofline and memory of the GPU, memory of the host device, curves of two kernels.
        self.assertEqual(len(charts), 5, charts)
        for chart in charts:
            self.assertFalse(chart["broken"], chart)
            self.assertGreater(chart["rows"], 0, chart)
            self.assertTrue(chart["points"] >= 2 or chart["step"] > 20, chart)
        titles = " ".join(chart["title"] for chart in charts)
        self.assertIn("AMD EPYC (host-x86-64-v4), CPU times", titles)
        self.assertIn("it has no workload", browser.value("document.querySelector('#roofline').textContent"))

    def test_tab_reaches_every_control(self):
        self.load()
        # In the order of the document; what is not shown cannot be reached.
        browser.value("""(() => { document.activeElement.blur(); scrollTo(0, 0); window.reached = new Set();
            document.addEventListener('focusin', (event) => window.reached.add(event.target)); })()""")
        count = browser.value("document.querySelectorAll(\"%s\").length" % FOCUSABLE)
        self.assertGreater(count, 100)
        for _ in range(count + 20):
            browser.press("Tab", 9)
            if browser.value("document.activeElement === document.body"):
                break
        missed = browser.value("""[...document.querySelectorAll("%s")].filter((one) => one.checkVisibility() && !window.reached.has(one))
            .map((one) => one.outerHTML.slice(0, 120))""" % FOCUSABLE)
        self.assertEqual(missed, [])

    def test_enter_opens_and_shows_more(self):
        self.load(open_all=False)
        browser.value("document.querySelector('#kernel-0 > summary').focus()")
        self.assertFalse(browser.value("document.querySelector('#kernel-0').open"))
        browser.press("Enter", 13, "\r")
        self.assertTrue(browser.value("document.querySelector('#kernel-0').open"))
        rows = "[...document.querySelectorAll('#kernel-0 table.cards')].pop().querySelectorAll('tbody tr').length"
        before = browser.value(rows)
        self.assertEqual(before, 50)
        browser.value("[...document.querySelectorAll('#kernel-0 button')].filter((one) => !one.hidden).pop().focus()")
        browser.press("Enter", 13, "\r")
        self.assertEqual(browser.value(rows), 100)
        self.assertEqual(browser.value("document.activeElement.tagName"), "TR", "one reads on at the first new row")

    def test_a_link_opens_its_kernel(self):
        self.load(open_all=False)
        browser.value("document.querySelector('#summary a[href=\"#kernel-1\"]').focus()")
        browser.press("Enter", 13, "\r")
        self.assertTrue(browser.value("document.querySelector('#kernel-1').open"))
        self.assertIn("CPU times", browser.value("document.querySelector('#kernel-1').textContent"))

    def test_evidence_can_be_narrowed(self):
        self.load(open_all=False)
        browser.value("""(() => { const part = document.querySelector('#kernel-0'); part.open = true; part.fill();
            const select = part.querySelector('select'); select.value = 'accepted';
            select.dispatchEvent(new Event('change')); })()""")
        verdicts = browser.value("""[...document.querySelectorAll("#kernel-0 td[data-label='verdict']")].map((one) => one.textContent)""")
        self.assertEqual(verdicts, ["accepted"] * 12)

    def test_the_accessibility_tree_names_all(self):
        self.load()
        nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
        seen = {}
        for node in nodes:
            role = node.get("role", {}).get("value")
            if node.get("ignored") or role not in NAMED_ROLES:
                continue
            seen[role] = seen.get(role, 0) + 1
            self.assertTrue(node.get("name", {}).get("value", "").strip(), node)
        for role in ("button", "link", "combobox", "searchbox", "table", "DisclosureTriangle", "navigation"):
            self.assertGreater(seen.get(role, 0), 0, seen)
        self.assertEqual(seen.get("image", 0) + seen.get("img", 0), 5, seen)
        levels = browser.value("[...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))")
        self.assertEqual(levels[0], 1)
        for before, after in zip(levels, levels[1:]):
            self.assertLessEqual(after, before + 1, levels)

    def test_a_phone_shows_it_without_scrolling_sideways(self):
        browser.ask("Emulation.setDeviceMetricsOverride", width=320, height=640, deviceScaleFactor=2, mobile=True)
        self.load()
        wide = browser.value("""[...document.querySelectorAll('body *')].filter((one) => !one.closest('svg') && one.getBoundingClientRect().right > 321
            && !one.closest('.hidden, .skip, thead')).map((one) => one.outerHTML.slice(0, 100)).slice(0, 5)""")
        self.assertEqual(wide, [])
        self.assertLessEqual(browser.value("document.scrollingElement.scrollWidth"), 320)

    def test_text_has_contrast_in_light_dark_and_print(self):
        self.load(open_all=False)
        script = """(() => { const luminance = (color) => { const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((one) => {
              const c = one / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
              return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const box = document.createElement('p'); document.body.append(box);
            const of = (name) => { box.style.color = 'var(--' + name + ')'; return luminance(getComputedStyle(box).color); };
            const worst = []; for (const back of ['page', 'panel']) for (const front of ['text', 'quiet', 'link', 'original', 'best', 'roof', 'focus']) {
              const [a, b] = [of(back), of(front)].sort((x, y) => y - x); worst.push([(a + 0.05) / (b + 0.05), back, front]); }
            box.remove(); return {worst: worst.sort((x, y) => x[0] - y[0])[0], page: getComputedStyle(document.body).backgroundColor}; })()"""
        pages = []
        for media, scheme in (("screen", "light"), ("screen", "dark"), ("print", "dark")):
            browser.ask("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])
            seen = browser.value(script)
            self.assertGreaterEqual(seen["worst"][0], 4.5, (media, scheme, seen))
            pages.append(seen["page"])
        self.assertNotEqual(pages[0], pages[1])
        self.assertEqual(pages[2], "rgb(255, 255, 255)", "paper is white")

    def test_on_paper_all_kernels_are_open(self):
        self.load(open_all=False)
        self.assertTrue(browser.ask("Page.printToPDF")["data"].startswith("JVBERi"))
        self.assertEqual(browser.value("[...document.querySelectorAll('details.kernel')].map((one) => one.open)"), [True] * 3)
        self.assertEqual(browser.console, [])

    # What makes a page slow to open is counted: times depend on the machine (report_bench prints them).
    def counts(self, variants):
        self.load(variants, open_all=False)
        self.assertEqual(browser.console, [])
        every = "document.querySelectorAll('*').length"
        first = browser.value(every)
        in_kernel = browser.value("document.querySelectorAll('#kernel-0 table, #kernel-0 svg, #kernel-0 li').length")
        browser.value("(() => { const part = document.querySelector('#kernel-0'); part.open = true; part.fill(); })()")
        browser.settle()
        seen = browser.value("""((part) => ({elements: document.querySelectorAll('*').length,
            cards: [...part.querySelectorAll('table.cards')].map((table) => table.querySelectorAll('tbody tr').length),
            tree: part.querySelectorAll('.tree li').length, chart: part.querySelectorAll('figure.chart svg *').length,
            marks: part.querySelectorAll('figure.chart svg path, figure.chart svg circle').length}))(document.querySelector('#kernel-0'))""")
        return first, in_kernel, seen

    def test_five_thousand_variants_draw_no_more_than_a_thousand(self):
        first, in_kernel, few = self.counts(1000)
        self.assertIn("Rows 1 to 50 of 1000.", browser.value("document.querySelector('#kernel-0').textContent"))
        self.assertEqual(self.counts(5000), (first, in_kernel, few))
        self.assertIn("Rows 1 to 50 of 5000.", browser.value("document.querySelector('#kernel-0').textContent"))
        self.assertLess(first, 700)
        self.assertEqual(in_kernel, 0, "a kernel's part is made when it is opened")
        self.assertLess(few["elements"], 2000)
        self.assertLessEqual(max(few["cards"]), 50)
        self.assertLessEqual(few["tree"], 51, "and a button for more")
        self.assertLess(few["chart"], 100)
        self.assertLess(few["marks"], 10, "a path has many points")

    def test_more_rows_are_as_many_as_before(self):
        self.load(5000, open_all=False)
        browser.value("(() => { const part = document.querySelector('#kernel-0'); part.open = true; part.fill(); })()")
        browser.settle()
        rows = "[...document.querySelectorAll('#kernel-0 table.cards')].pop().querySelectorAll('tbody tr').length"
        shown = [browser.value(rows)]
        for _ in range(3):
            browser.value("[...document.querySelectorAll('#kernel-0 button')].filter((one) => !one.hidden).pop().click()")
            shown.append(browser.value(rows))
        self.assertEqual(shown, [50, 100, 150, 200])


if __name__ == "__main__":
    if devtools.find_program() is None:
        print("skipped: none of these browsers is installed: " + ", ".join(devtools.PROGRAMS))
        sys.exit(77)
    REPORT_PAGE = sys.argv.pop(1)
    unittest.main(verbosity=2)

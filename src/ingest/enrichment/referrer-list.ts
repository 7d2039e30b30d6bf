/**
 * Hosts of search engines, social networks and assistants, by the name they are reported with.
 *
 * Source: https://github.com/matomo-org/searchengine-and-social-list, version 1.4.1, CC0-1.0.
 * Made by `npm run lists`: never edited. A line is a name, a colon, and its patterns.
 */
export const LIST_VERSION = '1.4.1'

export const REFERRER_LIST = {
  llm: `
Baidu AI: ai.baidu.com yiyan.baidu.com
Chat+: chat-gpt.org chatplus.com
ChatGLM: chatglm.cn
ChatGPT: chat.openai.com chatgpt.com labs.openai.com
Claude: claude.ai
Copilot: copilot.microsoft.com
Deepseek: chat.deepseek.com
Duck.ai: duck.ai
Gemini: bard.google.com gemini.google.com
Grok: grok.com x.com/i/grok
Jasper: app.jasper.ai
Le Chat: chat.mistral.ai
Meta AI: meta.ai
NotebookLM: notebooklm.google.com
Perplexity: perplexity.ai
Qwen: chat.qwen.ai
Writesonic: app.writesonic.com
You: you.com
iAsk: iask.ai
`,
  social: `
Badoo: badoo.com
Bebo: bebo.com
BlackPlanet: blackplanet.com
Bluesky: bsky.app skyfeed.app
Buzznet: buzznet.com
Classmates.com: classmates.com
Cyworld: global.cyworld.com
Discord: discord.com discord.gg discordapp.com
Douban: douban.com
Douyin: douyin.com
Douyu: douyu.com
Dribbble: dribbble.com
Facebook: facebook.com fb.me
Fetlife: fetlife.com
Flickr: flickr.com
Flixster: flixster.com
Fotolog: fotolog.com
Foursquare: foursquare.com
Friends Reunited: friendsreunited.com
Friendster: friendster.com
Gaia Online: gaiaonline.com
Geni.com: geni.com
GitHub: github.com
Google+: com.google.android.apps.plus plus.google.com url.google.com
Haboo: habbo.com
Hacker News: news.ycombinator.com
Huya: huya.com
Hyves: hyves.nl
Instagram: instagram.com
Last.fm: last.fm lastfm.com.br lastfm.com.tr lastfm.de lastfm.es lastfm.fr lastfm.it lastfm.jp lastfm.pl lastfm.ru lastfm.se
LinkedIn: linkedin.android linkedin.com lnkd.in
LiveJournal: livejournal.com livejournal.ru
Mastodon: bitcoinhackers.org botsin.space c.im chaos.social cybre.space fosstodon.org friends.nico front-end.social graphics.social hachyderm.io indieweb.social knzk.me mamot.fr mas.to masto.ai mastodon.art mastodon.at mastodon.cloud mastodon.eus mastodon.jalgi.eus mastodon.nz mastodon.online mastodon.scot mastodon.social mastodon.technology mastodon.world mastodon.xyz mastodonapp.uk mastodont.cat mstdn.io mstdn.jp mstdn.party mstdn.social newsie.social ohai.social org.joinmastodon.android pawoo.net quey.org ro-mastodon.puyo.jp sfba.social social.tchncs.de social.vivaldi.net tkm.eus toot.community typo.social universeodon.com vis.social
MeinVZ: meinvz.net
MissEvan: missevan.com
Mixi: mixi.jp
MoiKrug.ru: moikrug.ru
Multiply: multiply.com
MyHeritage: myheritage.com
MyLife: mylife.ru
Myspace: myspace.com
Nasza-klasa.pl: nk.pl
Netlog: netlog.com
Niconico: nicovideo.jp
Odnoklassniki: odnoklassniki.ru
Orkut: orkut.com
Ozone: qzone.qq.com
Peepeth: peepeth.com
Pinterest: at.pinterest.com ch.pinterest.com cl.pinterest.com co.pinterest.com dk.pinterest.com es.pinterest.com hu.pinterest.com id.pinterest.com ie.pinterest.com in.pinterest.com it.pinterest.com kr.pinterest.com mx.pinterest.com nl.pinterest.com nz.pinterest.com ph.pinterest.com pinterest.ca pinterest.ch pinterest.co.uk pinterest.com pinterest.com.au pinterest.de pinterest.dk pinterest.es pinterest.fr pinterest.ie pinterest.info pinterest.jp pinterest.nz pinterest.pt pinterest.se pt.pinterest.com ru.pinterest.com se.pinterest.com
Pixelfed: metapixl.com pix.toot.wales pixelfed.de pixelfed.social pixelfed.uno pixey.org pxlmo.com
Plaxo: plaxo.com
Renren: renren.com
Skyrock: skyrock.com
Snapchat: com.snapchat.android snapchat.com
Sonico.com: sonico.com
SoundCloud: gate.sc soundcloud.com
Sourceforge: sourceforge.net
StackOverflow: stackoverflow.com
StudiVZ: studivz.net
StumbleUpon: stumbleupon.com
Tagged: login.tagged.com
Taringa!: taringa.net
Telegram: org.telegram.messenger web.telegram.org
Threads: threads.com threads.net
TikTok: tiktok.com
Tuenti: tuenti.com
Twitcast: twitcasting.tv
Twitter: t.co twitter.com x.com
V2EX: v2ex.com
Viadeo: viadeo.com
Vimeo: vimeo.com
Vkontakte: vk.com vkontakte.ru
WAYN: wayn.com
WeChat: channels.weixin.qq.com mp.weixin.qq.com open.weixin.qq.com wechat.com
WeeWorld: weeworld.com
Weibo: t.cn weibo.com
Windows Live Spaces: login.live.com
Workplace: workplace.com
XING: xing.com
Xanga: xanga.com
YouTube: youtu.be youtube.com
bilibili: bilibili.com
gree: gree.jp
hi5: hi5.com
identi.ca: identi.ca
lang-8: lang-8.com
my.mail.ru: my.mail.ru
myYearbook: myyearbook.com
reddit: com.reddit.frontpage np.reddit.com pay.reddit.com reddit.com
tumblr: t.umblr.com tumblr.com
vkrugudruzei.ru: vkrugudruzei.ru
`,
  search: `
1.cz: 1.cz
118 700: 118700.se foretag.118700.se webben.118700.se
123people: 123people.{}
360search: so.360.cn so.com sou.com
ABCsøk: abcsok.no verden.abcsok.no
AOL: aim.search.aol.com alicesuche.aol.de alicesuchet.aol.de aolbusqueda.aol.com.mx aolimages.aol.fr aolrecherche.aol.fr aolrecherches.aol.fr aolsearch.aol.co.uk aolsearch.aol.com de.aolsearch.com find.web.aol.com o2suche.aol.de recherche.aol.ca recherche.aol.fr search-intl.netscape.com search.aol.co.uk search.aol.com search.aol.it search.hp.my.aol.com.au search.hp.my.aol.de search.hp.my.aol.it suche.aol.de suche.aolsvc.de sucheaol.aol.de suchet2.aol.de
Abacho: abacho.at abacho.ch abacho.co.uk abacho.com abacho.de abacho.es abacho.fr abacho.it se.abacho.com tr.abacho.com
Acoon: acoon.de
Aguea: chercherfr.aguea.com
Alexa: alexa.com search.toolbars.alexa.com
Alice Adsl: rechercher.aliceadsl.fr
All.by: all.by
AllTheInternet: alltheinternet.com
AllTheWeb: alltheweb.com
Allaverksamheter: allaverksamheter.se
Allesklar: allesklar.at allesklar.ch allesklar.de
AlohaFind: alohafind.com
AltaVista: altavista.com altavista.de altavista.fr listings.altavista.com search.altavista.com {}.altavista.com
Apollo lv: apollo.lv/portal/search
Apollo7: apollo7.de
Aport: sm.aport.ru
Arama: arama.com
Arcor: arcor.de
Arianna: arianna.com arianna.libero.it
Ask: ask.co.uk ask.com ask.reference.com askkids.com avira-int.ask.com avira.search.ask.com images.ask.com images.{}.ask.com int.ask.com int.search-results.com int.search.tb.ask.com iwon.ask.com mws.ask.com nortonsafe.search.ask.com qbyrd.com search-results.com search.ask.com search.tb.ask.com searchqu.com web.ask.com www1.search-results.com {}.ask.com {}.qbyrd.com {}.search-results.com {}.search.ask.com
Atlas: searchatlas.centrum.cz
Austronaut: www1.austronaut.at www2.austronaut.at
Avira SafeSearch: safesearch.avira.com search.avira.com search.avira.net
Babylon: search.babylon.com searchassist.babylon.com
Baidu: baidu.co.th baidu.com news.baidu.com tieba.baidu.com www1.baidu.com zhidao.baidu.com
Biglobe: cgi.search.biglobe.ne.jp
Biglobe Images: images.search.biglobe.ne.jp
Bing: bing.com cc.bingj.com dizionario.it.msn.com enciclopedia.it.msn.com global.bing.com msnbc.msn.com {}.bing.com
Blogdigger: blogdigger.com
Blogpulse: blogpulse.com
Bluewin: search.bluewin.ch
Brave: search.brave.com
Canoe.ca: web.canoe.ca
Centrum: morfeo.centrum.cz search.centrum.cz
Charter: charter.net
Claro Search: claro-search.com
Clix: pesquisa.clix.pt
Comcast: search.comcast.net
Compuserve.com (Enhanced by Google): websearch.cs.com
Conduit.com: images.search.conduit.com search.conduit.com
Crawler: crawler.com
Cuil: cuil.com
Cốc Cốc: coccoc.com
Daemon search: daemon-search.com my.daemon-search.com
DasOertliche: dasoertliche.de www2.dasoertliche.de
DasTelefonbuch: www1.dastelefonbuch.de
Daum: search.daum.net
Delfi EE: otsing.delfi.ee
Delfi lv: smart.delfi.lv
Digg: digg.com
DisconnectSearch: search.disconnect.me
DuckDuckGo: duckduckgo.com duckduckgogg42xjoc72x3sjasowoarfbgcmvfimaftt6twagswzczad.onion r.duckduckgo.com
Earthlink: search.earthlink.net
Ecosia: ecosia.org
El Mundo: ariadna.elmundo.es
Eniro: eniro.se
Entireweb: entireweb.com
EpicSearch.in: epicsearch.in
Eurip: eurip.com
Euroseek: euroseek.com
Everyclick: everyclick.com
Exalead: exalead.com exalead.fr
Excite: excite.co.jp msxml.excite.com search.excite.co.uk search.excite.de search.excite.es search.excite.fr search.excite.it search.excite.nl
Fast Browser Search: fastbrowsersearch.com
Findhurtig: findhurtig.dk
Fireball: fireball.com fireball.de
Firstsfind: firstsfind.com
Fixsuche: fixsuche.de
Flix.de: flix.de
Fooooo: search.fooooo.com
Forestle: forestle.mobi forestle.org {}.forestle.org
Francite: recherche.francite.com
Free: search.free.fr search1-1.free.fr search1-2.free.fr
FreeCause: search.freecause.com
Freenet: suche.freenet.de
Freespoke: freespoke.com
FriendFeed: friendfeed.com
Frontier: search.frontier.com
GAIS: gais.cs.ccu.edu.tw
Genieo: search.genieo.com
Geona: geona.net
Gibiru: gibiru.com
Gigablast: gigablast.com
Gigablast (Directory): dir.gigablast.com
Gnadenmeer: gnadenmeer.de
GoYellow.de: goyellow.de
Gomeo: gomeo.com
Google: cgi2.nintendo.co.jp cnn.com com.google.android.googlequicksearchbox darkoogle.com delta-search.com encrypted.google.com fastweb.it find.tdc.dk gfsoso.com go.google.com gogole.{} googel.{} google.{} gooofullsearch.com gppgle.{} image.search.smt.docomo.ne.jp ipv6.google.com isearch.avg.com it.luna.tv kadaza.com monumentbrowser.com netlavis.azione.jp optuszoo.com.au search.1und1.de search.abv.bg search.alot.com search.avg.com search.bt.com search.chedot.com search.darkoogle.com search.dolphin-browser.jp search.f-secure.com search.foxtab.com search.gmx.com search.hiyo.com search.incredibar.com search.incredimail.com search.juno.com search.leonardo.it search.nan.so search.smt.docomo.ne.jp search.sweetim.com search.walla.co.il search.xfinity.com search.zonealarm.com search.zum.com search1.incredimail.com search2.incredimail.com search3.incredimail.com search4.incredimail.com searches.f-secure.com searches.safehomepage.com searchresults.verizon.com start.lenovo.com startab.me suche.1und1.de suche.gmx.net webcache.googleusercontent.com wow.com www1.delta-search.com www2.google.com wwwgoogle.{} {}.wow.com
Google Blogsearch: blogsearch.google.{}
Google Custom Search: cse.google.{}
Google Images: images.google.{}
Google Maps: maps.google.{}
Google News: news.google.{}
Google Scholar: scholar.google.{}
Google Translations: translate.google.com
Google Video: video.google.com
Google syndicated search: googlesyndicatedsearch.com
Gule Sider: gulesider.no
Haosou: haosou.com
HighBeam: highbeam.com
Hit-Parade: class.hit-parade.com hit-parade.com req.hit-parade.com
Holmes: holmes.ge
Hooseek: hooseek.com
Hotbot: hotbot.com
I-play: start.iplay.com
ICQ: icq.com search.icq.com
Icerocket: blogs.icerocket.com
Ilse NL: ilse.nl
Inbox: www2.inbox.com
InfoSpace: dogpile.com govome.inspsearch.com home.speedbit.com infospace.com isearch.babylon.com isearch.glarysoft.com metacrawler.com search.avast.com search.b1.org search.chatzum.com search.fbdownloader.com search.handycafe.com search.iminent.com search.kiwee.com search.magentic.com search.searchcompletion.com search.v9.com search.webssearches.com searches.vi-view.com searches3.globososo.com searchmobileonline.com searchya.com start.facemoods.com start.funmoods.com tattoodle.com utorrent.inspsearch.com webcrawler.com webfetch.com wsdsold.infospace.com
Interia: google.interia.pl
Isodelen: isodelen.se
IxQuick: eu.ixquick.com ixquick.com ixquick.de s1-eu.ixquick.de s1.us.ixquick.com s2-eu4.ixquick.com s2.us.ixquick.com s3.us.ixquick.com s4.us.ixquick.com s5-eu4.ixquick.com s5.us.ixquick.com s8-eu.ixquick.com us.ixquick.com
Jungle Key: junglekey.com junglekey.fr
Jungle Spider: jungle-spider.de
Junior Safe Search: juniorsafesearch.com
Jyxo: jyxo.1188.cz
K9 Safe Search: k9safesearch.com
KARMA: karmasearch.org
Kagi: kagi.com
Kataweb: kataweb.it
Kensaq: kensaq.com
Kvasir: kvasir.no
La Toile Du Québec (Google): toile.com web.toile.com
Laban: laban.vn
Latne: latne.lv
Lilo: search.lilo.org
Lo.st: lo.st
Local Moxie: localmoxie.com
LookAny: lookany.com
Lookseek: search.lookseek.com
Looksmart: looksmart.com
Lycos: lycos.{} search.lycos.com
Mailru: go.mail.ru
Mamma: mamma.com mamma75.mamma.com
Meinestadt.de: meinestadt.de
Meta.ua: meta.ua
MetaCrawler DE: s1.metacrawler.de s2.metacrawler.de s3.metacrawler.de
Metager: meta.rrzn.uni-hannover.de metager.de
Metager2: metager2.de
Mister Wong: mister-wong.com mister-wong.de
Mojeek: mojeek.com
Monstercrawler: monstercrawler.com
MyPrivateSearch: myprivatesearch.com
MySpace: searchservice.myspace.com
MyWebSearch: kf.mysearch.myway.com ki.mysearch.myway.com ms114.mysearch.com ms146.mysearch.com mysearch.com search.myway.com search.mywebsearch.com
Najdi.si: najdi.si
Nate: search.nate.com
Naver: search.naver.com
Needtofind: ko.search.need2find.com
Neti: neti.ee
Nifty: search.azby.fmworld.net search.nifty.com
Nifty Videos: videosearch.nifty.com
Nigma: nigma.ru
OceanHero: oceanhero.today
Onet.pl: szukaj.onet.pl
Online.no: online.no
OnlySearch: only-search.com
Opplysningen 1881: 1881.no
Orange: busca.orange.es lemoteur.ke.voila.fr lemoteur.orange.fr
Paperball: paperball.de
PeopleCheck: extern.peoplecheck.de
PeoplePC: search.peoplepc.com
Picsearch: picsearch.com
Plazoo: plazoo.com
PlusNetwork: plusnetwork.com
Poisk.Ru: poisk.ru
Presearch: presearch.com
PrivacyWall: privacywall.org
Qualigo: qualigo.at qualigo.ch qualigo.de qualigo.nl
Quendu: quendu.com
Qwant: lite.qwant.com qwant.com
Rakuten: websearch.rakuten.co.jp
Rambler: nova.rambler.ru
Riksdelen: riksdelen.se
Road Runner: search.rr.com
Sapo: pesquisa.sapo.pt
Scour.com: scour.com
Search.ch: search.ch
Search.com: search.com
SearchCanvas: searchcanvas.com
SearchLock: results.searchlock.com searchlock.com
Searchalot: searchalot.com
Searchy: searchy.co.uk
SeeSaa: search.seesaa.jp
Setooz: {}.setooz.com
Seznam: search.seznam.cz
Seznam Videa: videa.seznam.cz
Sharelook: sharelook.fr
Skynet: skynet.be
SmartAddressbar: search.smartaddressbar.com
SmartShopping: search.smartshopping.com
Snap.do: search.snap.do
So-net: so-net.ne.jp
So-net Videos: video.so-net.ne.jp
Softonic: search.softonic.com
Sogou: english.sogou.com sogou.com wap.sogou.com
Soso: soso.com
Sputnik: sputnik.ru
StartPage: classic.startpage.com eu.startpage.com s1-eu5.startpage.com s10-eu5.startpage.com s11-eu5.startpage.com s12-eu5.startpage.com s13-eu5.startpage.com s14-eu5.startpage.com s2-eu4.startpage.com s2-eu5.startpage.com s4-eu5.startpage.com s5-eu5.startpage.com s6-eu4.startpage.com s6-eu5.ixquick.com s6-eu5.startpage.com s7-eu4.startpage.com s7-eu5.startpage.com s8-eu5.startpage.com startpage.com startpagel6srwcjlue4zgq3zevrujfaow726kjytqbbjyrswwmjzcqd.onion
Startpagina (Google): startgoogle.startpagina.nl
Startsiden: startsiden.no
Stract: stract.com
Suche.info: suche.info
Suchmaschine.com: suchmaschine.com
Suchnase: suchnase.de
Surf Canyon: surfcanyon.com
Swiggle: swiggle.org.uk
Swisscows: swisscows.com
T-Online: brisbane.t-online.de navigationshilfe.t-online.de suche.t-online.de
TUSK Search: tusksearch.com
TalkTalk: talktalk.co.uk
Tarmot: tarmot.com
Technorati: technorati.com
Teoma: teoma.com
Terra: buscador.terra.cl buscador.terra.com.br buscador.terra.es
Tiscali: hledani.tiscali.cz search-dyn.tiscali.it search.tiscali.it
Tixuma: tixuma.de
Toolbarhome: toolbarhome.com vshare.toolbarhome.com
Toppreise.ch: de.toppreise.ch en.toppreise.ch fr.toppreise.ch toppreise.ch
Torry: torry.io
Trouvez.com: trouvez.com
TrovaRapido: trovarapido.com
Trusted Search: trusted-search.com
Trustnav: search.trustnav.com
Twingly: twingly.com
URL.ORGanzier: url.org
Vinden: vinden.nl
Vindex: search.vindex.nl vindex.nl
Virgilio: mobile.virgilio.it ricerca.virgilio.it ricercaimmagini.virgilio.it ricercanews.virgilio.it ricercavideo.virgilio.it
Voila: lemoteur.fr search.ke.voila.fr
Volny: web.volny.cz
Vuhuv: vuhuv.com
Walhello: walhello.com walhello.de walhello.info walhello.nl
Web.de: suche.web.de
Web.nl: web.nl
WebSearch: websearch.com
Wedoo: en.wedoo.com es.wedoo.com fr.wedoo.com
Winamp: search.winamp.com
Wirtualna Polska: szukaj.wp.pl
Witch: witch.de
Woopie: woopie.jp
X-Recherche: x-recherche.com
Yahoo!: benefind.de cade.yahoo.com cercato.it espanol.search.yahoo.com malaysia.search.yahoo.com one.cn.yahoo.com r.search.yahoo.com search.offerbox.com search.yahoo.com ys.mirostart.com {}.search.yahoo.com
Yahoo! Images: cade.images.yahoo.com espanol.images.yahoo.com images.search.yahoo.com {}.images.yahoo.com
Yahoo! Japan: home.kingsoft.jp jp.hao123.com jwsearch.jword.jp search.yahoo.co.jp
Yahoo! Japan Images: image.search.yahoo.co.jp
Yahoo! Japan Videos: video.search.yahoo.co.jp
Yam: search.yam.com
Yandex: clck.yandex.{} ya.ru yabs.yandex.{} yandex.{}
Yandex Images: images.yandex.{}
Yasni: yasni.at yasni.ch yasni.co.uk yasni.com yasni.de
Yatedo: yatedo.com yatedo.fr
Yellowmap: yellowmap.de
Yep: yep.com
Yippy: search.yippy.com
Yongzin: yongzin.com
YouGoo: yougoo.fr
ZapMeta: zapmeta.{} zapmetasearch.{} {}.zapmeta.com
Zhongsou: p.zhongsou.com
Zoek: www3.zoek.nl
Zoeken: zoeken.nl
Zoohoo: zoohoo.cz
Zoznam: zoznam.sk
Zxuso: zxuso.com
auone: search.auone.jp sp-search.auone.jp sp-web.search.auone.jp
auone Images: sp-image.search.auone.jp
blekko: blekko.com
dir.com: fr.dir.com
dmoz: dmoz.org editors.dmoz.org
eo: eo.st
goo: ocnsearch.goo.ne.jp search.goo.ne.jp
iMesh: search.imesh.com
info.com: info.com
maailm.com: maailm.com
mozbot: mozbot.co.uk mozbot.com mozbot.fr
qip.ru: search.qip.ru
rpmfind: fr2.rpmfind.net rpmfind.net
sm.cn: m.sm.cn m.sp.sm.cn quark.sm.cn so.m.sm.cn yz.m.sm.cn
sm.de: sm.de
talimba: talimba.com
uol.com.br: busca.uol.com.br
weborama: weborama.fr
www värav: search.www.ee
묻지마 검색: kwzf.net
`,
} as const
